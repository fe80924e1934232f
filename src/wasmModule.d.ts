/**
 * The type of `falconry/falcon.wasm` and its like, for hosts and bundlers whose `import` of a `.wasm`
 * file gives the compiled module (Cloudflare's workerd).
 */
declare const module: WebAssembly.Module;
export default module;
