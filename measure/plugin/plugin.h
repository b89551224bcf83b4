/* What count.c uses of the emulator's interface for plug-ins, version 1 (QEMU 7.2); no package ships the interface's own header. */
#ifndef PILLION_PLUGIN_H
#define PILLION_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

enum { INTERFACE_VERSION = 1 };

/* The only operation that can be done inline, and callbacks that look at no register. */
enum inline_operation { INLINE_ADD_U64 };
enum callback_flags { CALLBACK_NO_REGISTERS };

struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef uint64_t plugin_id;
typedef void (*translated)(plugin_id id, struct qemu_plugin_tb *block);
typedef void (*executed)(unsigned int cpu, void *data);
typedef void (*ended)(plugin_id id, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, translated callback);
void qemu_plugin_register_atexit_cb(plugin_id id, ended callback, void *data);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);

void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *instruction, enum inline_operation operation,
                                                void *counter, uint64_t amount);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction, executed callback,
                                            enum callback_flags flags, void *data);

#endif
