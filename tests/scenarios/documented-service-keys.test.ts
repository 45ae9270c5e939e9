import { runExamples } from '../harness/documented.ts';
import { onNewStacks, onOneProcess } from '../harness/target.ts';

onNewStacks('the page has its own collections');

onOneProcess('the examples on the page about service keys work', (t, target) =>
  runExamples(t, target, 'service-keys.md'),
);
