/** A TCP port on which a process in a room listens. */
export interface ListeningPort {
  readonly port: number;
  /** The running command that listens; null for a process that a command left running in its persistent shell. */
  readonly command: string | null;
}

/** A port of a room that is open on 127.0.0.1 of the machine. */
export interface ForwardedPort {
  /** The key of the room (`JobSpec.room`). */
  readonly room: string;
  readonly port: number;
  /** The port on 127.0.0.1. */
  readonly hostPort: number;
}

/** The network of a room, as `Backend.listRooms` returns it. */
export interface RoomState {
  readonly room: string;
  readonly listening: readonly ListeningPort[];
  readonly forwarded: readonly ForwardedPort[];
}
