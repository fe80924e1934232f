/** relations.test.ts once more, with the rows that the short run leaves out. */
import './relations.test.ts';
