using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "falcon", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:8080", http = (), service = "falcon")],
);

const worker :Workerd.Worker = (
  compatibilityDate = "2026-11-01",
  bindings = [(name = "SECRET_KEY", fromEnvironment = "SECRET_KEY")],
  modules = [
    (name = "worker.js", esModule = embed "dist/worker.js"),
    (name = "falconry/falcon.relaxed.wasm",
      wasm = embed "node_modules/falconry/dist/falcon.relaxed.wasm"),
    (name = "falconry/labrador.relaxed.wasm",
      wasm = embed "node_modules/falconry/dist/labrador.relaxed.wasm"),
  ],
);
