/**
 * Handles a session that expired or was revoked. Refused requests wait for the next sign-in and are then sent with its
 * token, so that no input is lost.
 */
class Interruption {
  /** Whether requests may wait. True while an admin is signed in, and until the refused requests are sent again. */
  isArmed = false;
  /** Called when a session has ended. */
  onBegin: () => void = () => {};
  #waiting: { readonly next: Promise<string>; readonly resolve: (token: string) => void } | undefined;

  /** Waits for the next sign-in's token. Rejects when the request is aborted. */
  wait(signal: AbortSignal | null | undefined): Promise<string> {
    if (!this.#waiting) {
      let resolve: (token: string) => void = () => {};
      const next = new Promise<string>((settle) => {
        resolve = settle;
      });
      this.#waiting = { next, resolve };
      this.onBegin();
    }
    const { next } = this.#waiting;
    if (!signal) return next;
    return new Promise((resolve, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      void next.then(resolve);
    });
  }

  /** Continues the waiting requests. */
  end(token: string): void {
    this.#waiting?.resolve(token);
    this.#waiting = undefined;
  }
}

export const interruption = new Interruption();
