import { runExamples } from '../harness/docs/documented.ts';
import { onOneProcess } from '../harness/stacks/target.ts';

onOneProcess('the examples on the pages about records work', async (t, target) => {
  await runExamples(t, target, 'records.md');
  await runExamples(t, target, 'vector-search.md');
  await runExamples(t, target, 'search.md');
});
