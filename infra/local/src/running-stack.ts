/** A stack that answers. */
export interface RunningStack {
  /** Address of the gateway. */
  readonly url: string;
  /** One-time token for making the first admin; there is none once an admin exists. */
  readonly setupToken: string | undefined;
  /** The processes of the services, when each has one of its own. */
  services(): Readonly<Record<string, { readonly pid: number; readonly url: string }>>;
}
