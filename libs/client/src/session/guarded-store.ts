import { RecordbusError } from '../error.ts';
import type { Session, SessionStore } from './session.ts';

/** A store on which every call is a promise. */
interface GuardedStore {
  get(): Promise<Session | undefined>;
  set(session: Session | undefined): Promise<void>;
}

/** Wraps a store so that its failures become client errors. */
export function guardStore(store: SessionStore): GuardedStore {
  async function guard<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw new RecordbusError('The session store failed.', { status: 0, code: 'store_failed', cause });
    }
  }
  return { get: () => guard(() => store.get()), set: (session) => guard(() => store.set(session)) };
}
