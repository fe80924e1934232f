/** The rest of these cases. */
import './quarters.test.ts';
