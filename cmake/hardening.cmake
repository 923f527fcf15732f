# What an attacker must not find in any binary of this build (docs/decisions/0032); tests/binaries_test.sh reads them all.
include(CheckPIESupported)
check_pie_supported()
# Checked library calls want optimisation.
set(optimised $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
set(hardened_code -fstack-protector-strong $<${optimised}:-U_FORTIFY_SOURCE> $<${optimised}:-D_FORTIFY_SOURCE=2>)
set(hardened_link -Wl,-z,relro -Wl,-z,now)
add_compile_options(${hardened_code})
add_link_options(${hardened_link})

# CMake would end the search path for libraries with ':', room for another path at installation, and the loader takes the empty entry
# for the working folder. Installed binaries are linked once, with the path that they keep; the others are never changed.
set(CMAKE_NO_BUILTIN_CHRPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
function(mdpcosim_keep_search_path)
  set_target_properties(${ARGN} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
endfunction()
# For compiler wrappers, which are called by themselves.
set(hardened_module -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 ${hardened_link})
