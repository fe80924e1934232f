/** The messages between page and worker. */

export type Request =
  | { readonly id: number; readonly ask: 'publicKey' }
  | { readonly id: number; readonly ask: 'sign'; readonly message: Uint8Array };

export type Answer =
  | { readonly id: number; readonly bytes: Uint8Array }
  | { readonly id: number; readonly error: string };
