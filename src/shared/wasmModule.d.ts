/**
 * The type of `falconry/falcon.wasm` and the other modules, for hosts and bundlers in which
 * importing a `.wasm` file gives the compiled module (Cloudflare's workerd).
 */
declare const module: typeof globalThis extends {
  WebAssembly: { Module: { prototype: infer T } };
}
  ? T
  : object;
export default module;
