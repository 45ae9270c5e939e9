/** Creates the table in which the relays of the outbox divide the room of a stream (libs/bus/src/room/room-grants.ts). */
export const statements: readonly string[] = [
  `create table system.room_grants (
    stream text not null,
    member text not null,
    bytes bigint not null,
    primary key (stream, member)
  )`,
];
