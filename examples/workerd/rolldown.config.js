export default {
  input: 'worker.ts',
  output: { file: 'dist/worker.js' },
  // workerd has these compiled: see config.capnp
  external: [/^falconry\/.*\.wasm$/],
};
