/**
 * The type of `falconry/falcon.wasm` and the other modules, for hosts and bundlers in which
 * importing a `.wasm` file gives the compiled module (Cloudflare's workerd).
 */
declare const module: WebAssembly.Module;
export default module;
