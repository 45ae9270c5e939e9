/** A running stack. */
export interface RunningStack {
  /** The gateway's address. */
  readonly url: string;
  /** The one-time token that creates the first admin; undefined once an admin exists. */
  readonly setupToken: string | undefined;
  /** The services' processes, when each has its own. */
  services(): Readonly<Record<string, { readonly pid: number; readonly url: string }>>;
}
