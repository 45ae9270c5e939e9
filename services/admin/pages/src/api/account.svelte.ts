import { client } from './client.ts';
import { interruption } from './interruption.ts';

/** The signed-in admin. */
class Account {
  /** Undefined while the tab's session loads. */
  isSignedIn = $state<boolean>();
  id = $state('');
  email = $state('');
  /** Whether the session expired or was revoked. The page stays, below a sign-in dialog. */
  hasEnded = $state(false);
  /** How many sign-ins happened in that dialog. */
  signIns = $state(0);

  /** Restores the tab's session and watches it. */
  async start(): Promise<void> {
    interruption.onBegin = () => {
      this.hasEnded = true;
    };
    client.session.onChange((session) => {
      if (session) {
        if (this.hasEnded) this.signIns += 1;
        this.#begin();
        interruption.end(session.token);
      } else if (!this.hasEnded) this.#end();
    });
    if (await client.session.current()) this.#begin();
    else this.isSignedIn = false;
  }

  /** Ends the session here and on the server. */
  async leave(): Promise<void> {
    interruption.isArmed = false;
    await client.admin.logout().catch(() => client.session.end());
  }

  /** Checks the session, which may have ended while the stack did not answer. */
  async check(): Promise<void> {
    if (this.isSignedIn) await this.#load();
  }

  #begin(): void {
    interruption.isArmed = true;
    this.isSignedIn = true;
    this.hasEnded = false;
    void this.#load();
  }

  #end(): void {
    interruption.isArmed = false;
    this.isSignedIn = false;
    [this.id, this.email] = ['', ''];
  }

  async #load(): Promise<void> {
    try {
      const { id, email } = await client.admin.me();
      [this.id, this.email] = [id, email];
    } catch (error) {
      if (error instanceof Object && 'status' in error && error.status === 403) await client.session.end();
    }
  }
}

export const account = new Account();
