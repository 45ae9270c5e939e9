import { client } from '../api/client.ts';

/** How many counts are asked for at once. */
const atOnce = 4;

/** The numbers of records of collections, asked for a few at a time. */
class Counts {
  byName = $state<Record<string, number | undefined>>({});

  /** Counts the records of collections; one that cannot be counted stays unknown. */
  async load(names: readonly string[]): Promise<void> {
    const waiting = [...names];
    const work = async (): Promise<void> => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        const page = await client
          .from(name)
          .list({ perPage: 1, fields: ['id'] })
          .catch(() => undefined);
        this.byName[name] = page?.totalItems;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }
}

export const counts = new Counts();
