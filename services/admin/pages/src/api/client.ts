import { createClient, type Session, type SessionStore } from '@recordbus/client';

const key = 'recordbus-admin';

/** Keeps the session in memory and in the tab. It is never in a URL, and is gone when the tab closes. */
function tabStore(): SessionStore {
  let current = read();
  return {
    get: () => current,
    set(session) {
      current = session;
      if (session) sessionStorage.setItem(key, JSON.stringify(session));
      else sessionStorage.removeItem(key);
    },
  };
}

function read(): Session | undefined {
  try {
    const session: Session | null = JSON.parse(sessionStorage.getItem(key) ?? 'null');
    return typeof session?.token === 'string' ? session : undefined;
  } catch {
    return undefined;
  }
}

/** The pages' client. They use nothing else to reach the stack. */
export const client = createClient(location.origin, { store: tabStore() });
