import { type RecordsFixture, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

export const absentId = '01890000-0000-7000-8000-000000000000';

/** Starts the records service with authors and their posts. */
export const startPosts = (): Promise<RecordsFixture> =>
  startRecords([
    testCollection('authors', [{ name: 'name', required: true }]),
    testCollection('posts', [
      { name: 'title', required: true, options: { min: 2, max: 20 } },
      { name: 'slug', options: { unique: true } },
      { name: 'size', type: 'number' },
      { name: 'live', type: 'bool' },
      { name: 'meta', type: 'json' },
      { name: 'author', type: 'relation', collection: 'authors' },
    ]),
  ]);
