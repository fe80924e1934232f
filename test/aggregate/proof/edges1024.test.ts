import { testEdges } from './edges.ts';

testEdges('falcon1024');
