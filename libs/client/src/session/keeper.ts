import { RecordbusError } from '../error.ts';
import { guardStore } from './guarded-store.ts';
import type { Session, SessionStore } from './session.ts';
import { connectTabs } from './tabs.ts';
import { isRefreshDue } from './token-times.ts';

/** A client's session. */
export interface SessionKeeper {
  /** Returns the session; undefined for a guest. */
  current(): Promise<Session | undefined>;
  /** Returns the token to send, refreshed if that is due. */
  token(): Promise<string | undefined>;
  /** Begins a new token's session. */
  begin(token: string): Promise<void>;
  /** Forgets the session, in all tabs. */
  end(): Promise<void>;
  /** Calls the listener after each change, including changes in other tabs. Returns a function that removes it. */
  onChange(listener: (session: Session | undefined) => void): () => void;
}

/** How long to use a token that could not be refreshed before the next try. */
const retryAfterMs = 30_000;

/** A token's end names its refresh: enough to recognize the token, and too little to use it. */
const nameLength = 12;

/** Creates the keeper for the session in a store. `refresh` exchanges a token for a new one. */
export function createSessionKeeper(
  given: SessionStore,
  refresh: (token: string) => Promise<string>,
  now: () => number = () => Date.now(),
): SessionKeeper {
  const store = guardStore(given);
  const tabs = connectTabs(given.name);
  const listeners = new Set<(session: Session | undefined) => void>();
  let refreshing: Promise<Session | undefined> | undefined;
  let notBeforeMs = 0;

  const tell = (session: Session | undefined): void => {
    for (const listener of listeners) listener(session);
  };
  // A store that fails says so to the next call.
  tabs.onChange(() => void store.get().then(tell, () => {}));

  async function change(session: Session | undefined): Promise<void> {
    await store.set(session);
    tabs.announce();
    tell(session);
  }

  /** Refreshes the session, unless another tab or a sign-in has replaced it in the meantime. */
  async function refreshIfDue(): Promise<void> {
    const session = await store.get();
    if (!session || !isRefreshDue(session, now())) return;
    const isReplaced = async (): Promise<boolean> => (await store.get())?.token !== session.token;
    try {
      const token = await refresh(session.token);
      // A sign-in or sign-out during the refresh takes precedence over its result.
      if (!(await isReplaced())) await change({ token, receivedAtMs: now() });
    } catch (error) {
      if (error instanceof RecordbusError && error.status === 401) {
        if (!(await isReplaced())) await change(undefined);
        throw error;
      }
      notBeforeMs = now() + retryAfterMs;
    }
  }

  /** Refreshes the session once for all tabs. Returns the store's session after it. */
  async function refreshOnce({ token }: Session): Promise<Session | undefined> {
    const isReplaced = async (): Promise<boolean> => (await store.get())?.token !== token;
    await tabs.once(token.slice(-nameLength), refreshIfDue, isReplaced);
    return store.get();
  }

  return {
    current: async () => store.get(),
    async token() {
      const session = await store.get();
      if (!session || !isRefreshDue(session, now()) || now() < notBeforeMs) return session?.token;
      refreshing ??= refreshOnce(session).finally(() => {
        refreshing = undefined;
      });
      return (await refreshing)?.token;
    },
    begin: (token) => change({ token, receivedAtMs: now() }),
    end: () => change(undefined),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
