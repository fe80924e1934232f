import { makeApi } from './api.ts'; await makeApi();
