import { testEdges } from './edges.ts';

testEdges('falcon512');
