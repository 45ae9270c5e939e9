export { findHolder, lockDataDirectory } from './data-directory.ts';
export { startNats } from './nats.ts';
export { findNatsBinary } from './nats-binary.ts';
export { startPostgres } from './postgres.ts';
export { findStackNote, type StackNote, writeStackNote } from './stack-note.ts';
export { superuserUrl } from './superuser-url.ts';
export { until } from './until.ts';
export { type ClusterUpgrade, startClusterUpgrade } from './upgrade-cluster.ts';
