import { RecordbusError } from '../error.ts';
import type { Session, SessionStore } from './session.ts';

/** Wraps a store so that its failures become errors of the client. */
export function guardStore(store: SessionStore): Required<Pick<SessionStore, 'get' | 'set'>> {
  async function guard<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw new RecordbusError('The store of the session failed.', { status: 0, code: 'store_failed', cause });
    }
  }
  return { get: () => guard(() => store.get()), set: (session?: Session) => guard(() => store.set(session)) };
}
