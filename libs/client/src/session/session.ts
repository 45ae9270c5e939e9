/** A sign-in that a client holds. */
export interface Session {
  readonly token: string;
  /** When the token arrived, in milliseconds by this machine's clock; undefined if that is not known. */
  readonly receivedAtMs?: number | undefined;
}

/** Where a client keeps its session. */
export interface SessionStore {
  /**
   * The name under which other tabs see the same session. With it, one tab refreshes for all of them, and a sign-in or
   * sign-out in one applies to the others.
   */
  readonly name?: string | undefined;
  get(): Session | undefined | Promise<Session | undefined>;
  set(session: Session | undefined): void | Promise<void>;
}

/** Keeps the session in memory: it ends with the page or the process. */
export function memoryStore(session?: Session): SessionStore {
  let current = session;
  return {
    get: () => current,
    set: (next) => {
      current = next;
    },
  };
}

/** The part of `localStorage` that a store uses. */
interface Storage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

/** Keeps the session in `localStorage`, for all an origin's tabs. Every script on the page can read it there. */
export function localStorageStore(name = 'recordbus'): SessionStore {
  const storage = (): Storage => Reflect.get(globalThis, 'localStorage');
  return {
    name,
    get() {
      const text = storage().getItem(name);
      try {
        const session: unknown = text === null ? undefined : JSON.parse(text);
        return isSession(session) ? session : undefined;
      } catch {
        return undefined;
      }
    },
    set: (session) => {
      if (session) storage().setItem(name, JSON.stringify(session));
      else storage().removeItem(name);
    },
  };
}

const isSession = (value: unknown): value is Session =>
  typeof value === 'object' && value !== null && 'token' in value && typeof value.token === 'string';
