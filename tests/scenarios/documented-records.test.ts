import { runExamples } from '../harness/documented.ts';
import { onOneProcess } from '../harness/target.ts';

onOneProcess('the examples on the pages about records work', async (t, target) => {
  await runExamples(t, target, 'records.md');
  await runExamples(t, target, 'vector-search.md');
  await runExamples(t, target, 'search.md');
});
