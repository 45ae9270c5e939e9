/** The first bytes of a file that are read. */
export const sniffedBytes = 4100;

/** The content of a file, by its first bytes and its name (files §2.2). */
export interface FileContent {
  /** What the file is, the most specific type first. Each of them may be in `mimeTypes`. */
  readonly types: readonly [string, ...string[]];
  /** The `Content-Type` of a download. */
  readonly servedAs: string;
  /** Whether a browser could run it as a page, so it is never shown inline. */
  readonly mayRun: boolean;
}
