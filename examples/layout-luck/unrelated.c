/* A function that is not called while `work` is measured. With -DSIZE=48 it is 40 bytes longer than
 * with -DSIZE=8; this is the change. */
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
__asm__(".section .text.unrelated,\"ax\",@progbits\n"
        ".p2align 6\n"
        ".globl unrelated\n"
        ".type unrelated,@function\n"
        "unrelated:\n"
        ".skip " TEXT(SIZE) " - 1, 0x90\n"
        "   ret\n"
        ".size unrelated, .-unrelated\n");
