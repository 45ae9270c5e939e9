/** A user as whom the admin acts. */
export interface ActedUser {
  readonly id: string;
  readonly email: string;
  readonly collection: string;
  readonly token: string;
}

/** Paths of what users do themselves. Requests there carry the token of the user, all others that of the admin. */
const userPaths = /^\/api\/v1\/(?:records|batch|files|realtime)(?:\/|$)/;

/**
 * The user as whom the admin acts. The token stays in memory, so it ends with the page; the session of the admin is not
 * touched.
 */
class Acting {
  user = $state.raw<ActedUser>();

  begin(user: ActedUser): void {
    this.user = user;
  }

  /** Ends the session of the user. */
  async stop(): Promise<void> {
    const { user } = this;
    this.user = undefined;
    if (!user) return;
    const path = `/api/v1/auth/${encodeURIComponent(user.collection)}/logout`;
    const headers = { Authorization: `Bearer ${user.token}` };
    await fetch(path, { method: 'POST', headers, keepalive: true }).catch(() => undefined);
  }

  /** The token for a request to this path; undefined for requests of the admin. */
  tokenFor(path: string): string | undefined {
    return userPaths.test(path) ? this.user?.token : undefined;
  }
}

export const acting = new Acting();
