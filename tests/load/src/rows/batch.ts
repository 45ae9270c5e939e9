import { tableOf } from '../product/product-layout.ts';
import { description, sizes } from '../seed.ts';
import type { Row } from './row.ts';

const { posts, authors } = sizes['100k'];

/** How many operations a batch may have by default. */
const size = 1000;

/** Each request creates 1,000 records in one transaction, each with its event. */
export const batch: Row = {
  name: 'batch',
  title: `batch of ${size.toLocaleString('en')} creates in 100k`,
  isWrite: true,
  isProductOnly: true,
  connections: 1,
  async requests(database) {
    const { rows } = await database.query<{ id: string }>(`select id from ${tableOf(authors)} limit ${size}`);
    const operations = rows.map(({ id }, index) => ({
      op: 'create',
      collection: posts,
      data: { title: `A new post by author ${index}`, description, public: true, author: id },
    }));
    return { method: 'POST', paths: ['/api/v1/batch'], bodies: [JSON.stringify({ operations })] };
  },
};
