/** adversaries.test.ts once more, with the cases that the short run leaves out. */
import './adversaries.test.ts';
