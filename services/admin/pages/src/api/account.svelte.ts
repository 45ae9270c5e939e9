import { client } from './client.ts';

/** Who is signed in. */
class Account {
  /** Undefined while the session of the tab is read. */
  isSignedIn = $state<boolean>();
  email = $state('');
  /** Whether a session ended by itself: its work is kept below the sign-in. */
  hasEnded = $state(false);
  #isLeaving = false;

  /** Reads the session of the tab and follows it. */
  async start(): Promise<void> {
    client.session.onChange((session) => {
      this.hasEnded = this.isSignedIn === true && session === undefined && !this.#isLeaving;
      this.isSignedIn = session !== undefined;
      this.#isLeaving = false;
      if (session) void this.#load();
    });
    this.isSignedIn = (await client.session.current()) !== undefined;
    if (this.isSignedIn) await this.#load();
  }

  /** Ends the session here and on the server. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    await client.admin.logout().catch(() => client.session.end());
  }

  async #load(): Promise<void> {
    try {
      this.email = (await client.admin.me()).email;
    } catch (error) {
      if (error instanceof Object && 'status' in error && (error.status === 401 || error.status === 403))
        await client.session.end();
    }
  }
}

export const account = new Account();
