import type { Frame } from './frame.ts';

/** One text's messages, each for the subscriptions with one id. */
export interface KeptFrames {
  /** Returns the message with this name, or composes it. `about` is what the message shows. */
  of(about: object, name: string, compose: () => Frame): Frame;
}

/** What is kept at most, in UTF-16 code units; the first message about anything is always kept. */
const maxKeptUnits = 2 ** 21;

/**
 * Creates an empty memory, so that ten thousand subscriptions with the same id cost one serialisation. Clients choose
 * the ids, so there may be as many as subscriptions: what does not fit is composed for each, and kept by nobody.
 */
export function createKeptFrames(): KeptFrames {
  const kept = new Map<object, Map<string, Frame>>();
  let units = 0;

  function keep(about: object, name: string, frame: Frame): void {
    const frames = kept.get(about);
    if (frames && units + frame.units > maxKeptUnits) return;
    units += frame.units;
    kept.set(about, (frames ?? new Map<string, Frame>()).set(name, frame));
  }

  return {
    of(about, name, compose) {
      const known = kept.get(about)?.get(name);
      if (known) return known;
      const frame = compose();
      keep(about, name, frame);
      return frame;
    },
  };
}
