import { fileURLToPath } from 'node:url';
import { onEachTopology, onOneProcess, stackEnvironment } from '../harness/stacks/target.ts';
import { afterHooks } from './extensions/after-hooks.ts';
import { batchTool } from './extensions/batch-tool.ts';
import { beforeHooks } from './extensions/before-hooks.ts';
import { cascadeHooks } from './extensions/cascade-hooks.ts';
import { crons } from './extensions/crons.ts';
import { customEvents } from './extensions/custom-events.ts';
import { declaredEvents } from './extensions/declared-events.ts';
import { importHooks } from './extensions/import-hooks.ts';
import { putTools } from './extensions/put-tools.ts';
import { restoreHooks } from './extensions/restore-hooks.ts';
import { transactions } from './extensions/transactions.ts';

// What extensions do within the records service. `extensions.slow` has what they do together with other services.
stackEnvironment.SERVICE_EXTENSIONS_DIR = fileURLToPath(new URL('../extensions/working', import.meta.url));
stackEnvironment.EXTENSION_COLOUR = 'green';

onOneProcess('before hooks on imports', importHooks);
onOneProcess('before hooks', beforeHooks);
onEachTopology('before hooks on cascades', cascadeHooks);
onEachTopology('before hooks on restores', restoreHooks);
onEachTopology('after hooks', afterHooks);
onEachTopology('records.put and records.upsert', putTools);
onEachTopology('records.batch, and batches with hooks', batchTool);
onEachTopology("routes' and crons' transactions", transactions);
onOneProcess('custom events', customEvents);
onEachTopology('declared events', declaredEvents);
onOneProcess('crons', crons);
