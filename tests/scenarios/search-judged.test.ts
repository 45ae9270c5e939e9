import assert from 'node:assert/strict';
import { listAt } from '../harness/json.ts';
import { eventuallyOnEveryReplica } from '../harness/stacks/every-replica.ts';
import { onOneProcess } from '../harness/stacks/target.ts';
import { judgedSets } from './judged/texts.ts';

const depth = 10;
const least = 0.85;

/** What a ranking gains: good answers count more, and late ones less. */
const gainOf = (grades: readonly number[]): number =>
  grades.slice(0, depth).reduce((sum, grade, place) => sum + (2 ** grade - 1) / Math.log2(place + 2), 0);

onOneProcess('searches rank judged texts like people do', async (t, target) => {
  const admin = await target.admin();
  for (const { language, texts, queries } of judgedSets) {
    const name = `judged_${language}`;
    const fields = ['name', 'title', 'body'].map((field) => ({ name: field, type: 'text' }));
    await admin.post('/api/v1/collections', { name, type: 'base', fields });
    const searched = [{ field: 'title', weight: 'A' }, { field: 'body' }];
    await admin.post(`/api/v1/admin/collections/${name}/indexes`, {
      name: 'words',
      type: 'search',
      fields: searched,
      language,
    });
    for (const [text, [title, body]] of Object.entries(texts)) await admin.create(name, { name: text, title, body });
    const isReady = async () => (await admin.get(`/api/v1/${name}?search=x`)).status === 200;
    await eventuallyOnEveryReplica(`${name} is indexed`, isReady);

    await t.test(`${language}: NDCG@10 is at least ${least} [search §3.2]`, async (part) => {
      const scores: number[] = [];
      for (const [query, grades] of queries) {
        const { json } = await admin.get(`/api/v1/${name}?search=${encodeURIComponent(query)}&perPage=${depth}`);
        const found = listAt(json, 'data').map((record) => grades[String(record.name)] ?? 0);
        const best = Object.values(grades).sort((a, b) => b - a);
        const score = gainOf(found) / gainOf(best);
        if (score < 1) part.diagnostic(`${query}: ${score.toFixed(3)}`);
        scores.push(score);
      }
      const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
      part.diagnostic(`NDCG@10 ${mean.toFixed(3)}`);
      assert.ok(mean >= least, `${language}: ${mean}`);
    });
  }
});
