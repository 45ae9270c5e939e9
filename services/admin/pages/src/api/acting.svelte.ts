/** The user that an admin acts as. */
export interface ActedUser {
  readonly id: string;
  readonly email: string;
  readonly collection: string;
  readonly token: string;
}

/** Paths that users call. Requests to them carry the user's token, all others the admin's. */
const userPaths = /^\/api\/v1\/(?:records|batch|files|realtime)(?:\/|$)/;

/**
 * Lets the admin act as a user. The token stays in memory and is gone with the page. The admin's own session does not
 * change.
 */
class Acting {
  user = $state.raw<ActedUser>();

  begin(user: ActedUser): void {
    this.user = user;
  }

  /** Ends the user's session. */
  async stop(): Promise<void> {
    const { user } = this;
    this.user = undefined;
    if (!user) return;
    const path = `/api/v1/auth/${encodeURIComponent(user.collection)}/logout`;
    const headers = { Authorization: `Bearer ${user.token}` };
    await fetch(path, { method: 'POST', headers, keepalive: true }).catch(() => undefined);
  }

  /** Returns the token for a request to this path. Undefined for the admin's requests. */
  tokenFor(path: string): string | undefined {
    return userPaths.test(path) ? this.user?.token : undefined;
  }
}

export const acting = new Acting();
