'use strict';
// Loaded into the child before its entry. When the launcher is killed, the channel between the two closes, and the
// child ends gracefully.
if (process.connected) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}
