import { type Feed, type FeedOptions, openFeed } from './feed.ts';

/** A connection to our API takes this many subscriptions (realtime §2.4). */
const maxOfFeed = 100;

/**
 * Opens as many feeds as the topics need, as one that ends with the first of them. Undefined if the caller may follow none
 * of the topics. Throws 429 and 5xx; then the others are open until the call's signal aborts.
 */
export async function openFeeds(options: FeedOptions): Promise<Feed | undefined> {
  const { topics } = options;
  const count = Math.ceil(topics.length / maxOfFeed);
  const opened = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      openFeed({ ...options, topics: topics.slice(index * maxOfFeed, (index + 1) * maxOfFeed) }),
    ),
  );
  const feeds = opened.filter((feed) => feed !== undefined);
  if (feeds.length === 0) return undefined;
  return {
    ended: Promise.race(feeds.map(({ ended }) => ended)),
    get cursors() {
      return new Map(feeds.flatMap(({ cursors }) => [...cursors]));
    },
  };
}
