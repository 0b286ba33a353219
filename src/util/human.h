/* Numbers for people; exact ones are in JSON. */
#ifndef EXPFS_UTIL_HUMAN_H
#define EXPFS_UTIL_HUMAN_H

#define HUMAN_TEXT 16

/* Of bytes, as "1.2 GiB"; of seconds, as "1 h 05 min". */
void human_bytes(double bytes, char ret[static HUMAN_TEXT]);
void human_seconds(double seconds, char ret[static HUMAN_TEXT]);

#endif
