import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { endChild } from '../harness/processes/child.ts';
import { createDataDirectory, readiness, startProduct } from '../harness/stacks/stack.ts';
import { checkOut, released } from './check-out.ts';
import { packFixture } from './fixture.ts';
import { fillDeployment } from './small-deployment.ts';

// The last release starts on an empty data directory, is filled, and stops.
const { directory } = checkOut(released.commit);
const dataDirectory = createDataDirectory();
await using tidying = new AsyncDisposableStack();
tidying.defer(() => rmSync(dataDirectory, { recursive: true, force: true }));
const product = startProduct('one', { SERVICE_DATA_DIR: dataDirectory }, [join(directory, 'infra/local/src/main.ts')]);
tidying.defer(async () => void (await endChild(product)));
const { url, setupToken } = await readiness(product);
const marks = await fillDeployment(url, setupToken, released.version);
const { code } = await endChild(product, 'SIGTERM', 60_000);
if (code !== 0) throw new Error(`${released.version} ended with ${code}`);
packFixture(dataDirectory, marks);
