export default {
  input: 'worker.ts',
  output: { file: 'dist/worker.js' },
  // compiled by workerd: see config.capnp
  external: [/^falconry\/.*\.wasm$/],
};
