import { runExamples } from '../harness/docs/documented.ts';
import { onNewStacks, onOneProcess } from '../harness/stacks/target.ts';

onNewStacks('the page has its own collections');

onOneProcess('the examples on the page about service keys work', (t, target) =>
  runExamples(t, target, 'service-keys.md'),
);
