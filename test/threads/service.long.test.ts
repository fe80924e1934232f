/** The same as service.test.ts, with a thread that fills its memory besides. */
import './service.test.ts';
