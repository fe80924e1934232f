/** cutCommitments.test.ts once more, with longer chains of levels. */
import './cutCommitments.test.ts';
