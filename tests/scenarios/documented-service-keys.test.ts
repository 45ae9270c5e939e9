import { runExamples } from '../harness/documented.ts';
import { onNewStacks, onOneProcess } from '../harness/target.ts';

onNewStacks('the page has collections of its own');

onOneProcess('the examples of the page on service keys work', (t, target) => runExamples(t, target, 'service-keys.md'));
