import { createClient, type Session, type SessionStore } from '@recordbus/client';

const key = 'recordbus-admin';

/** Keeps the session in memory and for the life of the tab: never in an address, and gone when the tab closes. */
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

/** The one client of the pages. They reach the stack through nothing else. */
export const client = createClient(location.origin, { store: tabStore() });
