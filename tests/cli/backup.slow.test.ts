import { test } from 'node:test';
import { startDeployment } from './backup/deployment.ts';
import { refusalsAndStops } from './backup/refusals-and-stops.ts';
import { restoredDeployments } from './backup/restored-deployments.ts';
import { targets } from './backup/targets.ts';
import { throughTheApi } from './backup/through-the-api.ts';

test('backup and restore on the command line', async (t) => {
  await using deployment = await startDeployment();
  await t.test('preserve a deployment', (part) => restoredDeployments(part, deployment));
  await t.test('fail without harm', (part) => refusalsAndStops(part, deployment));
  await t.test('are made through the API', (part) => throughTheApi(part, deployment));
  await t.test('write to files and to standard output', (part) => targets(part, deployment));
});
