import { EventEmitter } from 'node:events';

const guarded = (listener: () => void) => listener;
const emitter = new EventEmitter();
const taken = guarded(() => {});
const bare = () => {};

emitter.on('data', taken).on('close', bare);
emitter.on('data', bare);
emitter.once('message', () => {});
emitter.on('close', bare).addListener('upgrade', bare);
emitter.once('message', guarded(bare));
