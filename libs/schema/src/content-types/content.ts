/** How many bytes are read from a file's beginning. */
export const sniffedBytes = 4100;

/** A file's content, by its first bytes and its name (files §2.2). */
export interface FileContent {
  /** What the file is, the most specific type first. `mimeTypes` may name any of them. */
  readonly types: readonly [string, ...string[]];
  /** A download's `Content-Type`. */
  readonly servedAs: string;
  /** Whether a browser could run it as a page, so it is never shown inline. */
  readonly mayRun: boolean;
}
