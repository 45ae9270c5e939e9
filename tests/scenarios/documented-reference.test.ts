import { runExamples } from '../harness/documented.ts';
import { onNewStacks, onOneProcess } from '../harness/target.ts';

onNewStacks('the pages have collections of their own');

for (const page of ['history'])
  onOneProcess(`the examples of the reference on ${page} work`, (t, target) =>
    runExamples(t, target, `reference/${page}.md`),
  );
