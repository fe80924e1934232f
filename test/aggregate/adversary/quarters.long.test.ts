/** quarters.test.ts once more, with longer chains of levels. */
import './quarters.test.ts';
