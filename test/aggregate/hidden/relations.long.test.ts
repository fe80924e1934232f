/** The relations of more rows. */
import './relations.test.ts';
