import { EventSource } from 'undici';

/** PocketBase's client uses the browser's EventSource, and Node hides its own. */
export function provideEventSource(): void {
  Object.assign(globalThis, { EventSource });
}
